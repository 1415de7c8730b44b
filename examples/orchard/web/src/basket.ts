export type Line = { box: number; cents: number };

export function total(lines: readonly Line[]): number {
  return lines.reduce((sum, line) => sum + line.cents, 0);
}
