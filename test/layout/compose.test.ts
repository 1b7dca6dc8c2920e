// docker-compose.yml starts a fleet that is safe without further settings.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { READERS_OF } from '../../src/process/settings/every-setting.ts';
import { ROOT } from '../support/tests/sources.ts';

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const services: Record<string, Service> = parse(text, { merge: true }).services;
const own = Object.entries(services).filter(([, { image }]) => image === 'zonefleet');

it('gives KEY_SECRETS to every service that signs or opens stored secrets', () => {
  const given = own
    .filter(([, { environment }]) => environment?.KEY_SECRETS !== undefined)
    .map(([name]) => name);
  expect(given).toEqual(['migrate', 'api', 'workers']);
});

it('has no default password', () => {
  const variables = [...text.matchAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g)];
  const secrets = variables.filter(([, name]) => /PASSWORD|SECRET|KEY/.test(name as string));
  expect(secrets.length).toBeGreaterThan(5);
  for (const [whole, name, operator, value] of secrets) {
    const isRequired = operator === '?';
    expect([whole, isRequired || value === '']).toEqual([whole, true]);
    expect([name, isRequired]).toEqual([name, /PASSWORD/.test(name as string)]);
  }
  expect(text).not.toMatch(/:\/\/\w+:(?!\$\{)[^@\s]*@/);
});

it('runs two nameservers with separate names, snapshots and ports', () => {
  const nodes = Object.values(services).filter(({ environment }) => environment?.NODE_NAME !== undefined);
  expect(nodes.map(({ environment }) => environment?.NODE_NAME)).toEqual(['nameserver-1', 'nameserver-2']);
  expect(new Set(nodes.flatMap(({ volumes }) => volumes)).size).toBe(2);
  const ports = Object.values(services).flatMap((service) => service.ports ?? []);
  const onHost = ports.map((port) => port.replace(/:\d+\//, '/'));
  expect(new Set(onHost).size).toBe(ports.length);
});

it('gives each service only settings that exist', () => {
  for (const [name, { environment = {} }] of own)
    expect([name, Object.keys(environment).filter((variable) => !READERS_OF.has(variable))]).toEqual([
      name,
      [],
    ]);
});
