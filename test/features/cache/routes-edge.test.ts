import { expect, it } from 'vitest';
import { streamPurges } from '../../../src/features/cache/routes-edge.ts';
import type { OpenPurge } from '../../../src/features/cache/sql-purges.ts';

const purge = (id: number): OpenPurge => ({
  id,
  edgeId: 1,
  domainId: 5,
  domain: 'shop.example',
  target: { kind: 'all' },
});

/** Returns one list per read, then ends the stream. */
function play(reads: readonly (readonly number[])[], heartbeatMs?: number) {
  const ended = new AbortController();
  let at = -1;
  const feed = {
    openOf: () => (reads[at] ?? []).map(purge),
    async read() {
      at++;
      if (at >= reads.length) ended.abort();
    },
  };
  return streamPurges(feed, {
    edgeId: 1,
    ended: ended.signal,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });
}

async function idsOf(stream: AsyncGenerator<string>): Promise<(number | undefined)[]> {
  const ids: (number | undefined)[] = [];
  for await (const piece of stream)
    ids.push(
      ...piece
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    );
  return ids;
}

it('sends each open purge once, oldest first, after an immediate first line', async () => {
  expect(await idsOf(play([[1, 2], [1, 2], [2, 3], [3]]))).toEqual([undefined, 1, 2, 3]);
});

it('sends heartbeats while there is nothing else to send', async () => {
  expect(await idsOf(play([[], [1], [1]], 0))).toEqual([undefined, undefined, undefined, 1, undefined]);
});
