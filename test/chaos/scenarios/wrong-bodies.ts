// One account sends bodies that are made to cost: millions of values, deep nesting, endless numbers and names, quadratic texts.

import type { Figure, Scenario } from '../scenario.ts';
import type { Account, Stage } from '../stage.ts';
import { watchCalls } from '../watch-calls.ts';

const BYTES = 10_000_000;

const repeated = (open: string, unit: string, close: string) =>
  `${open}${`${unit},`.repeat(BYTES / (unit.length + 1))}${unit}${close}`;
const record = (destination: string, name = 'a') => ({ name, type: 'CNAME', destination });

const BODIES: readonly [path: 'batch' | 'import', body: () => string][] = [
  ['batch', () => repeated('{"create":[', '1', ']}')],
  ['import', () => repeated('{"records":[', '1', ']}')],
  ['import', () => repeated('{"records":[', '{}', ']}')],
  ['import', () => repeated('{"records":[', '[]', ']}')],
  ['batch', () => repeated('{', '"create":[]', '}')],
  ['batch', () => '['.repeat(BYTES)],
  ['batch', () => '{"a":'.repeat(BYTES / 5)],
  ['batch', () => `{"delete":[${'1'.repeat(BYTES)}]}`],
  ['batch', () => `{"${'k'.repeat(BYTES)}":1}`],
  ['batch', () => JSON.stringify({ create: [record('a.'.repeat(BYTES / 2))] })],
  ['import', () => JSON.stringify({ records: [record('a', 'ü'.repeat(BYTES / 2))] })],
  ['import', () => `{"records":[{"name":"${'\\ud800'.repeat(BYTES / 6)}","type":"A","destination":"1"}]}`],
];

export const wrongBodies: Scenario = {
  name: 'wrong-bodies',
  attack: `one account sends ${BODIES.length} bodies of ${BYTES / 1e6} MB that are made to cost`,
  async run(stage) {
    const attacker = await stage.newAccount('attacker', 'pro');
    const others = await watchCalls(stage, await stage.newAccount('other'));
    const before = stage.memoryOf('api');
    let [longestMs, most] = [0, before];
    for (const [path, body] of BODIES) {
      const bytes = Buffer.from(body());
      const startedMs = performance.now();
      await send(stage, attacker, path, bytes);
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      most = Math.max(most, stage.memoryOf('api'));
    }
    const { worstMs } = await others.stop();
    const grownMb = (most - before) / 1e6;
    const figures: Figure[] = [
      { label: 'longest', text: `${longestMs.toFixed(0)} ms`, isMet: longestMs <= 1000 },
      { label: 'others', text: `${worstMs.toFixed(0)} ms`, isMet: worstMs <= 300 },
      { label: 'memory', text: `+${grownMb.toFixed(0)} MB`, isMet: grownMb <= 300 },
    ];
    return figures;
  },
};

async function send(stage: Stage, { key, domain }: Account, path: string, bytes: Buffer): Promise<void> {
  const method = path === 'batch' ? 'PUT' : 'POST';
  // A connection that is closed within a refused body is an answer as well.
  await stage.call(method, `/domains/${domain}/records/${path}`, bytes, key).catch(() => undefined);
}
