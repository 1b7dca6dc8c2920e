// Parses V8's garbage collections from the output of --trace-gc.

import { expect, it } from 'vitest';
import { readCollections } from '../../../bench/soak/collections.ts';

const OUTPUT = `
[71:0x5f10]       40 ms: Scavenge 4.4 (4.9) -> 3.9 (5.6) MB, 0.9 / 0.0 ms  (average mu = 1.000) allocation failure;
[71:0x5f10]      900 ms: Mark-Compact 8.1 (9.0) -> 6.2 (9.2) MB, 3.5 / 0.0 ms  (average mu = 1.000) task;
[71:0x7a20]     1200 ms: Scavenge 20.1 (25.3) -> 18.9 (26.1) MB, 1.2 / 0.0 ms  (average mu = 1.000) allocation failure;
{"level":30,"msg":"a line of the log"}
[71:0x5f10]     2000 ms: Mark-Compact (reduce) 8.1 (9.0) -> 6.2 (9.2) MB, 2.5 / 0.0 ms  (average mu = 1.000) task;
[71:0x7a20]     2100 ms: Scavenge 20.1 (25.3) -> 18.9 (26.1) MB, 7.2 / 0.0 ms  (average mu = 1.000) allocation failure;
`;

it('collections are counted by heap and kind from a given time on', () => {
  expect(readCollections(OUTPUT, 1000)).toEqual([
    { name: 'heap 2', minor: 2, major: 0, longestMs: 7.2 },
    { name: 'heap 1', minor: 0, major: 1, longestMs: 2.5 },
  ]);
});
