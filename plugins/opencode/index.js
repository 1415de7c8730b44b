// tipstaff: asks tipstaff-hook before each tool call, and masks secrets in what tools give. Written by `tipstaff install`,
// which replaces it; `tipstaff uninstall` removes it.
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

const PROGRAM = ["tipstaff-hook", "--host", "opencode"]
// Whether calls run where the program is missing: this file is committed, and not everybody has installed it.
const OPTIONAL = true

// The hook's reply; an error where it gave none.
const ask = (event, cwd) => {
  const input = JSON.stringify({ transcript_path: null, cwd, ...event })
  const [program, ...words] = PROGRAM
  const done = spawnSync(program, words, { input, cwd, encoding: "utf8", timeout: 10000, maxBuffer: 1 << 28 })
  if (OPTIONAL && done.error?.code === "ENOENT" && existsSync(cwd)) return {}
  if (done.error || done.status !== 0)
    throw new Error(`tipstaff-hook did not answer (${done.error?.message ?? done.stderr ?? done.status}): a person runs \`tipstaff doctor\``)
  return done.stdout.trim() === "" ? {} : JSON.parse(done.stdout)
}

export const Tipstaff = async ({ directory }) => {
  const rules = new Map()
  const deliver = (session, event) => {
    try {
      const text = ask({ session_id: session, ...event }, directory).hookSpecificOutput?.additionalContext
      if (text) rules.set(session, [...(rules.get(session) ?? []).filter((one) => one.event !== event.hook_event_name), { event: event.hook_event_name, text }])
    } catch {
      // Rules that cannot be delivered stop no prompt; a call that cannot be judged is stopped below.
    }
  }
  return {
    "chat.message": async (input, output) => {
      if (!rules.has(input.sessionID)) deliver(input.sessionID, { hook_event_name: "SessionStart", source: "startup" })
      const prompt = (output.parts ?? []).map((part) => part.text ?? "").join("\n")
      deliver(input.sessionID, { hook_event_name: "UserPromptSubmit", prompt })
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const one of rules.get(input.sessionID) ?? []) output.system.push(one.text)
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: output.args ?? {}, tool_use_id: input.callID }
      const said = ask({ session_id: input.sessionID, hook_event_name: "PreToolUse", ...call }, directory).hookSpecificOutput
      if (said?.permissionDecision && said.permissionDecision !== "allow") throw new Error(said.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      if (output === undefined) return
      const texts = { output: output.output, title: output.title, metadata: output.metadata, content: output.content }
      const call = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID, tool_response: texts }
      const masked = ask({ session_id: input.sessionID, hook_event_name: "PostToolUse", ...call }, directory).hookSpecificOutput?.updatedToolOutput
      if (masked) for (const name of Object.keys(texts)) if (texts[name] !== undefined) output[name] = masked[name] ?? output[name]
    },
  }
}
