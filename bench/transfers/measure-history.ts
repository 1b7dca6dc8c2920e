// Edits through the API, alternately of a domain that keeps history and of the same domain without it.

import { prepareCalls } from '../guard/calls.ts';
import { cpuOf, openThisTree } from '../guard/tree.ts';
import type { BenchOptions } from '../part.ts';
import { runOn } from '../postgres/cluster.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';
import { removePeers, replacePeers } from './peers.ts';

const EDITS = 300;
const CALL = 'change record';

export interface MeasuredHistory {
  /** Milliseconds of processor time of an edit, of the API and of Postgres. */
  readonly withHistory: number;
  readonly without: number;
  /** Median of the ratios of adjacent measurements. */
  readonly ratio: number;
}

export async function measureHistory(options: BenchOptions): Promise<MeasuredHistory> {
  const tree = await openThisTree();
  const api = await tree.start('api');
  try {
    const call = (await prepareCalls(tree.ask)).find(({ name }) => name === CALL);
    if (call === undefined) throw new Error(`there is no call "${CALL}"`);
    let n = 0;
    const edit = async (): Promise<number> => {
      const before = await cpuOf(api);
      for (let i = 0; i < EDITS; i++, n++) {
        const { status } = await tree.ask(call.method, call.path(n), call.body?.(n));
        if (status !== 200) throw new Error(`an edit responds ${status}`);
      }
      return (((await cpuOf(api)) - before) * 1000) / EDITS;
    };
    await edit(); // warm-up
    const pairs: { withHistory: number; without: number }[] = [];
    for (let round = 0; round < options.rounds; round++) {
      await replacePeers(tree.databaseUrl);
      const withHistory = await edit();
      await removePeers(tree.databaseUrl);
      pairs.push({ withHistory, without: await edit() });
      say(
        `  an edit: ${withHistory.toFixed(2)} ms with history, ${pairs.at(-1)?.without.toFixed(2)} ms without`,
      );
    }
    const [row] = await runOn(tree.databaseUrl, 'select count(*)::integer as kept from zone_history');
    if (row?.kept !== options.rounds * EDITS) throw new Error(`${row?.kept} edits were kept`);
    return {
      withHistory: median(pairs.map((pair) => pair.withHistory)),
      without: median(pairs.map(({ without }) => without)),
      ratio: median(pairs.map(({ withHistory, without }) => withHistory / without)),
    };
  } finally {
    await api.stop();
  }
}
