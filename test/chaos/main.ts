// `npm run chaos [NAME…]`: attacks a running fleet in each scenario, and prints what a witness saw meanwhile. Ends with 1
// when an answer was wrong, an acknowledged edit was lost, or a figure is outside of what is wanted.

import { parseArgs } from 'node:util';
import type { Figure, Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { Stage } from './stage.ts';
import { printRow, printTable, type Row } from './table.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name));
if (unknown.length > 0) {
  say(
    `there is no scenario ${unknown.join(', ')}; there are ${SCENARIOS.map(({ name }) => name).join(', ')}`,
  );
  process.exit(2);
}
let open: Stage | undefined;

async function perform(scenario: Scenario): Promise<Row> {
  const lacks = scenario.lacks?.();
  if (lacks !== undefined) return { scenario, outcome: 'skipped', why: `needs ${lacks}` };
  const stage = await Stage.open(scenario.settings);
  open = stage;
  try {
    stage.beginWitness();
    const figures: readonly Figure[] = await scenario.run(stage);
    const seen = await stage.endWitness();
    return { scenario, outcome: 'seen', seen, figures };
  } catch (error) {
    return { scenario, outcome: 'broken', why: `${(error as Error).stack}\n${stage.log.slice(-2000)}` };
  } finally {
    await stage.close();
    open = undefined;
  }
}

async function end(): Promise<void> {
  await open?.close();
  process.exit(130);
}
process.on('SIGINT', end);
process.on('SIGTERM', end);

const rows: Row[] = [];
for (const scenario of SCENARIOS) {
  if (positionals.length > 0 && !positionals.includes(scenario.name)) continue;
  say(`${scenario.name}: ${scenario.attack}`);
  const row = await perform(scenario);
  rows.push(row);
  say(printRow(row).join(' | ')); // the table comes at the end, which may be far
}
const { text, isAllMet } = printTable(rows);
process.stdout.write(`${text}\n`);
process.exitCode = isAllMet ? 0 : 1;

function say(words: string): void {
  process.stderr.write(`chaos: ${words}\n`);
}
