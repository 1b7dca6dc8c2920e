import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { OpenAPIV3_1 } from 'openapi-types';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROBLEM_CODES } from '../../../src/api/answers/problem.ts';
import { type Route, takesIdempotencyKey } from '../../../src/api/calls/route.ts';
import { CLOSED_PATHS } from '../../../src/api/description/documents.ts';
import { RESELLER_ROUTES, ROUTES } from '../../../src/features/every-route.ts';
import { API_TYPES } from '../../../src/zone/records/customer-types.ts';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let text: string;
let document: OpenAPIV3_1.Document;
beforeAll(async () => {
  text = (await api.ask('GET', '/openapi.yaml', { as: null })).text;
  document = parse(text);
});

/** Observers and payment gateways sign their requests, so API keys and their limits do not apply. */
const isSigned = ({ access }: Route) => access.kind === 'vantage' || access.kind === 'gateway';
const isCounted = (route: Route) => !isSigned(route) && route.access.kind !== 'public';

/** Global admins have a separate document. */
const SHOWN = [...ROUTES, ...RESELLER_ROUTES].filter(({ access }) => access.kind !== 'admin');
const operations = () =>
  SHOWN.map((route) => ({
    route,
    operation: (document.paths?.[route.path] as Record<string, OpenAPIV3_1.OperationObject>)[
      route.method.toLowerCase()
    ] as OpenAPIV3_1.OperationObject,
  }));

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1.0 with API version 1.0.0, as YAML at both paths, without authentication', async () => {
    const other = await api.ask('GET', '/docs/openapi.yaml', { as: null });
    expect(other.headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(other.text).toBe(text);
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
  });

  it('describes every route and no others', () => {
    const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const closed = CLOSED_PATHS.map(({ method, path }) => `${method} ${path}`);
    const routes = SHOWN.map(({ method, path }) => `${method} ${path}`);
    expect(described.sort()).toEqual([...routes, ...closed].sort());
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('describes every path parameter, and the Idempotency-Key where it has an effect', () => {
    for (const { route, operation } of operations()) {
      const parameters = (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[];
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(inPath.sort()).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
      const inHeader = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
      expect(inHeader).toEqual(takesIdempotencyKey(route) ? ['Idempotency-Key'] : []);
    }
  });

  it('describes each refusal with its codes, with the problem body, and the headers of each response', () => {
    for (const { route, operation } of operations()) {
      const responses = operation.responses as Record<string, OpenAPIV3_1.ResponseObject>;
      expect(Object.keys(responses)).toEqual(
        expect.arrayContaining(['200', '401', ...(isSigned(route) ? [] : ['403']), '429', '500', '503']),
      );
      expect(Object.keys(responses['200']?.headers ?? {})).toEqual(
        expect.arrayContaining([
          'X-Request-Id',
          ...(isCounted(route) ? ['RateLimit-Remaining'] : []),
          ...(route.answerHeaders ?? []),
        ]),
      );
      for (const [status, response] of Object.entries(responses)) {
        expect(response.headers).toHaveProperty('X-Request-Id');
        if (status === '200') continue;
        expect(response.content).toEqual({
          'application/json': { schema: { $ref: '#/components/schemas/Problem' } },
        });
      }
      for (const code of route.problems ?? [])
        expect(responses[PROBLEM_CODES[code]]?.description).toContain(`\`${code}\``);
    }
  });

  it('has no broken references, and no unused schema or schema with a suffix', () => {
    const found = (kind: string) =>
      new Set([...text.matchAll(new RegExp(`#/components/${kind}/([\\w-]+)`, 'g'))].map(([, name]) => name));
    const { schemas = {}, headers = {} } = document.components ?? {};
    expect([...found('schemas')].sort()).toEqual(Object.keys(schemas).sort());
    for (const name of found('headers')) expect(headers).toHaveProperty(name as string);
    expect(Object.keys(schemas).filter((name) => name.endsWith('Input'))).toEqual([]);
    expect(text).not.toContain('$id');
  });

  it('describes codes as an open text with all known codes, and does not repeat at each call those that all calls can return', () => {
    const { properties } = document.components?.schemas?.Problem as OpenAPIV3_1.SchemaObject;
    const code = properties?.code as OpenAPIV3_1.SchemaObject;
    expect([code.type, code.enum]).toEqual(['string', undefined]);
    for (const known of Object.keys(PROBLEM_CODES)) expect(code.description).toContain(`\`${known}\``);
    for (const general of ['account_suspended', 'session_check_failed', 'foreign_origin']) {
      expect(document.info.description).toContain(`\`${general}\``);
      for (const { route, operation } of operations()) {
        const isOwn = (route.problems ?? []).some((code) => code === general);
        expect(JSON.stringify(operation.responses).includes(general)).toBe(isOwn);
      }
    }
  });

  it('describes the responses of removed paths, which fixtures/api-access lists', () => {
    for (const { method, path } of CLOSED_PATHS) {
      const described = (document.paths?.[path] as Record<string, OpenAPIV3_1.OperationObject>)[
        method.toLowerCase()
      ];
      expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining(['403', '410']));
      expect(described?.deprecated).toBe(true);
    }
  });

  it('describes types, integers and defaults of records and of import items', () => {
    const membersOf = (name: string) =>
      (document.components?.schemas?.[name] as OpenAPIV3_1.SchemaObject).properties as Record<
        string,
        OpenAPIV3_1.SchemaObject
      >;
    for (const name of ['RecordCreate', 'ImportItem']) {
      const { type, ttl, port, timeout, mx_priority, scheme } = membersOf(name);
      const [named, generic] = (type?.anyOf ?? []) as OpenAPIV3_1.SchemaObject[];
      expect([name, named?.enum]).toEqual([name, [...API_TYPES]]);
      expect(new RegExp(generic?.pattern ?? '').test('TYPE65280')).toBe(true);
      for (const integer of [ttl, port, timeout, mx_priority]) expect(integer?.type).toBe('integer');
      expect([port?.default, timeout?.default, scheme?.default]).toEqual([443, 15, 'Default']);
    }
    expect(membersOf('RecordCreate').proxied?.default).toBe(false);
    for (const member of Object.values(membersOf('RecordUpdate')))
      expect(member).not.toHaveProperty('default');
  });

  it('is the same in JSON', async () => {
    const json = await api.ask('GET', '/openapi.json', { as: null });
    expect([json.headers['content-type'], json.body]).toEqual(['application/json; charset=utf-8', document]);
  });

  it('passes a linter', async () => {
    const rules = { 'no-path-trailing-slash': 'off' } as const; // paths of lists end in a slash
    const config = await createConfig({ extends: ['recommended'], rules });
    const problems = await lintFromString({ source: text, config });
    const told = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
    const closed = CLOSED_PATHS.map(({ method, path }) => {
      const pointer = path.replaceAll('/', '~1');
      return `operation-2xx-response #/paths/${pointer}/${method.toLowerCase()}/responses`;
    });
    expect(told.filter((problem) => !closed.includes(problem))).toEqual([]);
  });
});
