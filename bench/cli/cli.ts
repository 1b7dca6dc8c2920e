// Compares the start of commands with that of an empty Node.js program.

import { resolve } from 'node:path';
import type { Part } from '../part.ts';
import { judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';
import { prepareCommands, type StartCost } from './measure-commands.ts';

const WANTED = 2.5;
const STARTS_EACH = 10;
const CERTIFICATES =
  process.env.NODE_EXTRA_CA_CERTS === undefined
    ? ''
    : 'NODE_EXTRA_CA_CERTS is set, so every start reads these certificates.';
const PROGRAM = resolve(import.meta.dirname, '../../src/cli/zonefleet.mjs');

export const cli: Part = {
  names: ['cli'],
  async run({ rounds }) {
    const commands = await prepareCommands();
    const rows: [string, readonly string[]][] = [
      ['an empty program', commands.empty],
      ...Object.entries(commands.of).map(([name, words]): [string, string[]] => [
        `\`zonefleet ${name}\``,
        [PROGRAM, ...words],
      ]),
    ];
    for (const [, words] of rows) await commands.warmUp(words);
    const costs = new Map<string, StartCost[]>(rows.map(([name]) => [name, []]));
    for (let round = 0; round < rounds; round++)
      for (const [name, words] of rows) {
        const cost = await commands.measure(words, STARTS_EACH);
        costs.get(name)?.push(cost);
        say(`  ${name}: ${(cost.cpuSeconds * 1000).toFixed(0)} ms`);
      }
    const [empty = []] = costs.values();
    const middle = (of: readonly StartCost[], field: keyof StartCost) =>
      median(of.map((cost) => cost[field]));
    const times = (of: readonly StartCost[], field: keyof StartCost) =>
      median(of.map((cost, i) => cost[field] / (empty[i] as StartCost)[field]));
    return [
      {
        part: 'cli',
        title: 'Start of a command',
        blocks: [
          `Processor time and elapsed time of ${STARTS_EACH} starts in each round, as a multiple of \`node -e 0\`. \`check\` is measured until its first query is sent. ${CERTIFICATES}`,
          table(
            ['', 'CPU ms', '× empty', 'ms', '× empty'],
            [...costs].map(([name, of]) => [
              name,
              (middle(of, 'cpuSeconds') * 1000).toFixed(0),
              of === empty ? '' : judged(times(of, 'cpuSeconds'), WANTED),
              (middle(of, 'seconds') * 1000).toFixed(0),
              of === empty ? '' : judged(times(of, 'seconds'), WANTED),
            ]),
          ),
        ],
        charts: [],
      },
    ];
  },
};
