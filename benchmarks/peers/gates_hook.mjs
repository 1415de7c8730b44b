// A hook over the gates of @claude-flow/guidance, as small as one can be: an event on standard input, a reply on
// standard output. The first argument is the package's folder.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { EnforcementGates } = await import(pathToFileURL(join(process.argv[2], 'dist', 'gates.js')).href);
const event = JSON.parse(readFileSync(0, 'utf8'));
const results = new EnforcementGates().evaluateCommand(event.tool_input.command);
const decision = results.length === 0 ? 'allow' : 'deny';
process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: event.hook_event_name, permissionDecision: decision } }));
