import { expect, it } from 'vitest';
import { JobsWanted, VantageAnswer } from '../../../src/api/schemas/vantage.ts';
import { encodeEvidence, type JsonEvidence } from '../../../src/checks/delegation/evidence-json.ts';
import { parseName } from '../../../src/dns/name.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const NS = ['ns1.a.example.', 'ns2.b.example.'];
const evidence: JsonEvidence = JSON.parse(
  JSON.stringify(encodeEvidence(evidenceOf(parseName('shop.example.'), NS))),
);
const [server] = evidence.servers as [JsonEvidence['servers'][number]];

function wrongFields(evidence: unknown): string[] {
  const answer = { id: '5b3f9a52-6c1c-4f0e-9b7e-0a1b2c3d4e5f', name: 'shop.example', evidence };
  const { error } = VantageAnswer.safeParse(answer);
  return error?.issues.map(({ path, ...issue }) => ('keys' in issue ? issue.keys : path).join('.')) ?? [];
}

it('evidence that Zonefleet encoded is accepted', () => {
  expect(wrongFields(evidence)).toEqual([]);
});

it.each<[field: string, value: unknown]>([
  ['domain', 'SHOP.example.'],
  ['domain', `${'a'.repeat(64)}.example.`],
  ['walk', Array.from({ length: 65 }, () => evidence.walk[0])],
  ['servers', Array.from({ length: 129 }, () => server)],
  ['finishedAt', 'now'],
  ['more', 1],
])('evidence with a wrong %s is refused', (field, value) => {
  expect(wrongFields({ ...evidence, [field]: value })[0]).toMatch(
    field === 'more' ? 'more' : `evidence.${field}`,
  );
});

it.each<[field: string, value: unknown]>([
  ['transport', 'database'],
  ['outcome', 'yes'],
  ['ns.0', ['ns1.a..example.']],
  ['ns', Array.from({ length: 65 }, () => 'a.')],
  ['ds.0', ['***']],
  ['ds', Array.from({ length: 17 }, () => 'AA==')],
  ['error', 'a\u001b[31m'],
  ['error', 'x'.repeat(2001)],
  ['address', ''],
])('a server with a wrong %s is refused', (field, value) => {
  const [member = ''] = field.split('.');
  const servers = [{ ...server, [member]: value }];
  expect(wrongFields({ ...evidence, servers })).toEqual([`evidence.servers.0.${field}`]);
});

it.each([
  { max: 17, waitSeconds: 0 },
  { max: 0, waitSeconds: 0 },
  { max: 1, waitSeconds: 21 },
  { max: 1 },
  { max: 1, waitSeconds: 0, more: 1 },
])('a request for jobs %j is refused', (body) => {
  expect(JobsWanted.safeParse(body).success).toBe(false);
});
