import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROBLEM_CODES } from '../../src/api/answers/problem.ts';
import { takesIdempotencyKey } from '../../src/api/calls/route.ts';
import { ROUTES } from '../../src/api/routes/every-route.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';

let api: TestApi;
let text: string;
let document: OpenAPIV3_1.Document;
beforeAll(async () => {
  api = await startTestApi();
  text = (await api.ask('GET', '/openapi.yaml', { as: null })).text;
  document = parse(text);
});
afterAll(() => api?.stop());

const operations = () =>
  ROUTES.map((route) => ({
    route,
    operation: (document.paths?.[route.path] as Record<string, OpenAPIV3_1.OperationObject>)[
      route.method.toLowerCase()
    ] as OpenAPIV3_1.OperationObject,
  }));

describe('the description of the API', () => {
  it('is OpenAPI 3.1.0 of API version 1.0.0, in YAML, at both addresses alike, without a key', async () => {
    const other = await api.ask('GET', '/docs/openapi.yaml', { as: null });
    expect(other.headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(other.text).toBe(text);
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
  });

  it('has every route, and no other', () => {
    const described = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.keys(item ?? {}).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('names every parameter of a path, and an Idempotency-Key where it counts', () => {
    for (const { route, operation } of operations()) {
      const parameters = (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[];
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(inPath.sort()).toEqual([...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort());
      const inHeader = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
      expect(inHeader).toEqual(takesIdempotencyKey(route) ? ['Idempotency-Key'] : []);
    }
  });

  it('tells each refusal with its codes, as the problem body, and the headers of each answer', () => {
    for (const { route, operation } of operations()) {
      const responses = operation.responses as Record<string, OpenAPIV3_1.ResponseObject>;
      expect(Object.keys(responses)).toEqual(
        expect.arrayContaining(['200', '401', '403', '429', '500', '503']),
      );
      expect(Object.keys(responses['200']?.headers ?? {})).toEqual(
        expect.arrayContaining([
          'X-Request-Id',
          ...(route.access.kind === 'public' ? [] : ['RateLimit-Remaining']),
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
      for (const code of route.problems ?? []) {
        expect(responses[PROBLEM_CODES[code]]?.description).toContain(`\`${code}\``);
      }
    }
  });

  it('refers to nothing that is not there, and leaves no schema unused or half-named', () => {
    const found = (kind: string) =>
      new Set([...text.matchAll(new RegExp(`#/components/${kind}/([\\w-]+)`, 'g'))].map(([, name]) => name));
    const { schemas = {}, headers = {} } = document.components ?? {};
    expect([...found('schemas')].sort()).toEqual(Object.keys(schemas).sort());
    for (const name of found('headers')) expect(headers).toHaveProperty(name as string);
    expect(Object.keys(schemas).filter((name) => name.endsWith('Input'))).toEqual([]);
    expect(text).not.toContain('$id');
  });

  it('lists the codes of all problems', () => {
    const { properties } = document.components?.schemas?.Problem as OpenAPIV3_1.SchemaObject;
    expect(properties?.code).toMatchObject({ enum: Object.keys(PROBLEM_CODES) });
  });
});
