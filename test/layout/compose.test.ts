// deploy/compose starts a fleet whose services get the secrets that they read, from files, and no default password.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROGRAMS } from '../../src/cli/programs.mjs';
import { READERS_OF, SECRET_OF_FILE } from '../../src/process/settings/every-setting.ts';
import type { Reader } from '../../src/process/settings/setting.ts';
import { ROOT } from '../support/tests/sources.ts';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
}

const read = (file: string) => readFileSync(join(ROOT, 'deploy/compose', file), 'utf8');
const compose: {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
} = parse(read('compose.yaml'), { merge: true });
const own = Object.entries(compose.services).filter(([, { image }]) => image.includes('zonefleet'));
/** Of a second Postgres server, which this fleet does not have. */
const NOT_USED = ['DATABASE_READ_URL', 'CACHE_REGISTRY_URL'];
const OPTIONAL = [...read('zonefleet.env').matchAll(/^#(\w+)_FILE=\/run\/secrets\/([\w.-]+)$/gm)];

function readerOf({ command = ['run', 'nameserver'] }: Service): Reader {
  if (command[0] !== 'run') return 'CLI';
  const name = command[1] as keyof typeof PROGRAMS;
  expect(PROGRAMS).toHaveProperty(name);
  return name === 'api' ? 'API' : (name as Reader);
}

it('gives each service every secret that it reads, as a file', () => {
  for (const [name, service] of own) {
    const reader = readerOf(service);
    const needed = [...SECRET_OF_FILE].filter(([variable, secret]) => {
      return READERS_OF.get(variable)?.includes(reader) && !NOT_USED.includes(secret);
    });
    const files = needed.map(([variable, secret]) => {
      const optional = OPTIONAL.find(([, setting]) => setting === secret)?.[2];
      const path = service.environment?.[variable] ?? (optional && `/run/secrets/${optional}`);
      return [secret, path?.replace('/run/secrets/', '')];
    });
    expect([name, files.filter(([, file]) => file === undefined)]).toEqual([name, []]);
    expect([name, service.secrets?.toSorted()]).toEqual([name, files.map(([, file]) => file).sort()]);
  }
});

it('has no secret in the environment of a service', () => {
  const secrets = new Set(SECRET_OF_FILE.values());
  for (const [name, { environment = {} }] of own)
    expect([name, Object.keys(environment).filter((variable) => secrets.has(variable))]).toEqual([name, []]);
  expect(read('compose.yaml') + read('zonefleet.env')).not.toMatch(/PASSWORD: |:\/\/\w*:/);
});

it('defines every secret that a service uses, and make-secrets creates its file', () => {
  const used = new Set(Object.values(compose.services).flatMap(({ secrets = [] }) => secrets));
  expect(Object.keys(compose.secrets).sort()).toEqual([...used].sort());
  const script = read('make-secrets');
  const created = new Set([
    ...[...script.matchAll(/^put ([\w.-]+) "/gm)].map(([, name]) => name),
    ...(/for optional in ([^;]+);/.exec(script)?.[1]?.split(' ') ?? []),
  ]);
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    expect(file).toBe(`./secrets/${name}`);
    expect(created).toContain(name);
  }
});

it('gives each service only settings that it reads', () => {
  for (const [name, service] of own) {
    const unread = Object.keys(service.environment ?? {}).filter(
      (variable) => !READERS_OF.get(variable)?.includes(readerOf(service)),
    );
    expect([name, unread]).toEqual([name, []]);
  }
  const named = [...read('zonefleet.env').matchAll(/^#?(\w+)=/gm)].map(([, variable]) => variable as string);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((variable) => !READERS_OF.has(variable))).toEqual([]);
});

it('runs two nameservers with separate names, snapshots and ports', () => {
  const nodes = own.filter(([, { environment }]) => environment?.NODE_NAME !== undefined);
  expect(nodes.map(([, { environment }]) => environment?.NODE_NAME)).toEqual([
    'nameserver-1',
    'nameserver-2',
  ]);
  expect(new Set(nodes.flatMap(([, { volumes }]) => volumes)).size).toBe(2);
  const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
  const onHost = ports.map((port) => port.replace(/\$\{\w+:-([^}]+)\}/, '$1').replace(/:\d+\//, '/'));
  expect(new Set(onHost).size).toBe(ports.length);
  expect(onHost.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

it('connects the databases only to the inside network, and publishes no port of theirs', () => {
  const stores = Object.entries(compose.services).filter(([name]) => !own.some(([each]) => each === name));
  expect(stores.map(([name]) => name)).toEqual(['postgres', 'redis', 'clickhouse']);
  for (const [, { networks, ports }] of stores) expect([networks, ports]).toEqual([['inside'], undefined]);
});
