// Prints the plan of a migration, as text or as JSON.

import type { planMigration } from '../../features/plan-migration.ts';
import { printBuild, readBuild } from '../../process/build.ts';
import type { Output } from '../terminal/output.ts';
import { printSpan } from '../terminal/print-span.ts';

type Plan = Awaited<ReturnType<typeof planMigration>>;
type Step = Plan['steps'][number];

/** Returns the exit code: 1 if there is anything to do. */
export async function showPlan(plan: Plan, output: Output): Promise<number> {
  const isPending =
    plan.schema === undefined || plan.steps.length + plan.changed.length + plan.republish.domains > 0;
  await output.print(output.json ? JSON.stringify(planJson(plan)) : linesOf(plan, isPending).join('\n'));
  return isPending ? 1 : 0;
}

function linesOf(plan: Plan, isPending: boolean): string[] {
  const { schema, isNewer, steps, changed, republish, seconds } = plan;
  const lines = [`program ${printBuild(readBuild())}, schema ${schema ?? 'none'}`];
  if (schema === undefined) return [...lines, 'the schema will be created'];
  if (isNewer) lines.push('a newer version has migrated the schema, which this version can use');
  for (const step of steps) lines.push(...stepLines(step));
  for (const { setting, from, to } of changed)
    lines.push(`store ${setting}: ${from || 'nothing'} -> ${to || 'nothing'}`);
  if (republish.domains > 0) {
    const signed = republish.signed > 0 ? `, of which ${republish.signed} are signed` : '';
    lines.push(
      `republish up to ${republish.domains} domains${signed} (about ${printSpan(republish.seconds)})`,
    );
  }
  lines.push(isPending ? `about ${printSpan(seconds)}, while all processes keep running` : 'nothing to do');
  return lines;
}

function stepLines({ name, about, creates, uses }: Step): string[] {
  return [
    `apply ${name}: ${about}`,
    ...(creates.length > 0 ? [`  creates ${creates.join(', ')}`] : []),
    ...uses.map((use) => {
      const work = { none: 'no row is read', scan: 'reads', index: 'indexes', rewrite: 'writes' }[use.work];
      const rows = use.work === 'none' ? '' : ` ${use.rows} rows in about ${printSpan(use.seconds)}`;
      return `  ${use.table}: ${LOCKS[use.lock]}; ${work}${rows}`;
    }),
  ];
}

const LOCKS = {
  none: 'nothing waits',
  writes: 'writes wait until the end of the step',
  all: 'reads and writes wait until the end of the step',
} as const;

function planJson({ schema, isNewer, steps, changed, republish, seconds }: Plan): object {
  return {
    ...readBuild(),
    schema: schema ?? null,
    is_newer: isNewer,
    steps,
    changed,
    republish,
    seconds,
  };
}
