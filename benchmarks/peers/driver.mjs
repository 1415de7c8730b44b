// Times operations of @claude-flow/guidance. One JSON request per line on standard input, one JSON answer per line on
// standard output; the process stays, so that V8 has compiled what it is going to compile before anything is timed.
//
//   {"do": "hello"}                                        -> {"node", "version"}
//   {"do": "prepare", "operation": name, "input": {...}}   -> {"prepared": summary}
//   {"do": "time", "operation": name, "warm": w, "times": n} -> {"nanoseconds": [n numbers], "result": summary}
//
// A failed request is answered by {"error": message}. The first argument is the package's folder.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const folder = process.argv[2];
const load = name => import(pathToFileURL(join(folder, 'dist', `${name}.js`)).href);
const { GuidanceCompiler } = await load('compiler');
const { HashEmbeddingProvider, ShardRetriever } = await load('retriever');
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

// Each operation is prepared from its input; `call(i)` is what is timed, `between` runs untimed before each call.
const operations = {
  compile({ root, local }) {
    return {
      summary: null,
      call: () => new GuidanceCompiler().compile(root, local ?? undefined),
      describe: bundle => ({
        rules: bundle.manifest.totalRules,
        constitution: bundle.manifest.constitutionRules,
        shards: bundle.shards.length,
      }),
    };
  },

  // The provider remembers what it has embedded; texts that it meets for the first time are what is asked about.
  embed({ texts, dimensions }) {
    let provider;
    return {
      summary: texts.length,
      between: () => { provider = new HashEmbeddingProvider(dimensions); },
      call: i => provider.embed(texts[i % texts.length]),
      describe: vector => Array.from(vector),
    };
  },

  // Each command `times` times, one after the other.
  async gates({ commands, times }) {
    const { EnforcementGates } = await load('gates');
    const gates = new EnforcementGates();
    return {
      summary: commands.length * times,
      call: () => { let found = 0; for (let i = 0; i < times; i++) for (const one of commands) found += gates.evaluateCommand(one).length; return found; },
      describe: found => found,
    };
  },

  // `seen`: whether the provider may remember the task's vector from an earlier call.
  async retrieve({ bundle, tasks, seen }) {
    const provider = new HashEmbeddingProvider(384);
    const retriever = new ShardRetriever(provider);
    await retriever.loadBundle(bundle);
    return {
      summary: retriever.shardCount,
      between: () => { if (!seen) provider.cache.clear(); },
      call: i => retriever.retrieve({ taskDescription: tasks[i % tasks.length] }),
      describe: result => ({
        ids: result.shards.map(one => one.shard.rule.id),
        similarities: result.shards.map(one => one.similarity),
        intent: result.detectedIntent,
        characters: result.policyText.length,
      }),
    };
  },
};

const prepared = new Map();

async function answer(request) {
  if (request.do === 'hello') return { node: process.versions.node, version };
  if (request.do === 'prepare') {
    if (!Object.hasOwn(operations, request.operation)) throw new Error(`unknown operation ${request.operation}`);
    const operation = await operations[request.operation](request.input);
    prepared.set(request.operation, { ...operation, next: 0 });
    return { prepared: operation.summary };
  }
  if (request.do === 'time') {
    const operation = prepared.get(request.operation);
    if (operation === undefined) throw new Error(`${request.operation} is not prepared`);
    const nanoseconds = [];
    let result;
    for (let round = -request.warm; round < request.times; round++) {
      operation.between?.();
      const at = operation.next++;
      const start = process.hrtime.bigint();
      result = operation.call(at);
      // An asynchronous operation ends when its promise does; a synchronous one does not wait for the event loop.
      if (result instanceof Promise) result = await result;
      const end = process.hrtime.bigint();
      if (round >= 0) nanoseconds.push(Number(end - start));
    }
    return { nanoseconds, result: result === undefined ? null : operation.describe(result), last: operation.next - 1 };
  }
  throw new Error(`unknown request ${request.do}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply;
  try {
    reply = await answer(JSON.parse(line));
  } catch (error) {
    reply = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
