// Judges a JSON array of commands with the gates of @claude-flow/guidance, one by one; prints the seconds of the
// fastest of three turns, and how many were stopped. Arguments: the package's folder, the file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { EnforcementGates } = await import(pathToFileURL(join(process.argv[2], 'dist', 'gates.js')).href);
const commands = JSON.parse(readFileSync(process.argv[3], 'utf8'));
const gates = new EnforcementGates();
for (const command of commands.slice(0, 2000)) gates.evaluateCommand(command);
let seconds = Infinity;
let stopped = 0;
for (let turn = 0; turn < 3; turn += 1) {
  const began = process.hrtime.bigint();
  stopped = 0;
  for (const command of commands) if (gates.evaluateCommand(command).length !== 0) stopped += 1;
  seconds = Math.min(seconds, Number(process.hrtime.bigint() - began) / 1e9);
}
process.stdout.write(JSON.stringify({ seconds, stopped }));
