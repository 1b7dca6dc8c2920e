// Records whose answers are large, in the domain of the stage, for scenarios that ask for much.

import { until } from '../support/tests/until.ts';
import { DOMAIN, type Stage } from './stage.ts';

/** Names below the domain, each with as many TXT records of 1,000 octets; resolves when the nameserver has them. */
export async function makeTexts(stage: Stage, names: readonly string[], texts: number): Promise<void> {
  const text = (i: number) => String(i).padEnd(1000, 'x');
  const create = names.flatMap((name) =>
    Array.from({ length: texts }, (_, i) => ({ name, type: 'TXT', destination: text(i) })),
  );
  const saved = await stage.call('PUT', `/domains/${DOMAIN}/records/batch`, { create });
  if (saved.status !== 200) throw new Error(`PUT …/records/batch: ${saved.status} ${saved.text}`);
  const change = saved.headers.get('x-change-id');
  await until(async () => {
    const { text: body } = await stage.call('GET', `/domains/${DOMAIN}/changes/${change}`);
    return (JSON.parse(body) as { in_sync: boolean }).in_sync;
  }, 'the nameserver has the texts');
}
