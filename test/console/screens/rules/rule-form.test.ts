import { describe, expect, it } from 'vitest';
import { fieldsOf, TYPES } from '../../../../console/src/screens/rules/rule-fields.ts';
import {
  bodyOf,
  isAsked,
  jsonOf,
  movedPlaces,
  originsOf,
  parseJson,
  showsError,
  typedOf,
} from '../../../../console/src/screens/rules/rule-form.ts';
import { rules } from '../../../../console/src/words/rules.ts';
import { COMMON_FIELDS } from '../../../../src/edge/rules/common-fields.ts';
import { RULE_KINDS } from '../../../../src/edge/rules/every-type.ts';

/** Members without a field: rules are turned on and off with a button, and records are set as JSON. */
const ELSEWHERE = ['enabled', 'record_ids'];

/** Required members of the other types, and a rule of each kind without default values. */
const OTHER: Readonly<Record<string, object>> = {
  redirect: { target: '/b', status_code: 308, preserve_query: false, preserve_path: true },
  drop: { country_match_type: 'exclude', countries: ['DE', 'FR'] },
  rate_limit: { requests: 7, key: 'header', header: 'x-id', action: 'delay', block_seconds: 0 },
  bot_route: { bots: 'list', list: ['Some Bot/1', 'b'], action: 'route', destination: 'bots.example.net' },
  fingerprint: { fingerprints: ['0'.repeat(32), '1'.repeat(32)], action: 'allow' },
  waf: { paranoia: 4, threshold: 9, body_cap_kb: 0, rule_excludes: ['942100', '1'] },
  captcha: { mode: 'image', valid_seconds: 60 },
  rewrite: { path_target: '/x/y', query_mode: 'replace', query_target: 'a=b' },
  cache: {
    ttl_seconds: 0,
    browser_ttl_seconds: 5,
    key_query: 'list',
    key_query_list: ['a b'],
    key_headers: ['x-a', 'x-b'],
  },
  origin_route: { destination: '192.0.2.1', port: 80, scheme: 'auto', host_header: 'h.example.net' },
  origin_pool: {
    origins: [
      { host: 'a.example.net', port: 8443, scheme: 'https', weight: 3, backup: false },
      { host: '2001:db8::1', port: 80, scheme: 'http', weight: 1, backup: true },
    ],
    method: 'hash',
    health: { path: '/up', status: 204, interval_seconds: 5 },
  },
  error_page: { status_codes: [404, 502], html: ' <p>\n gone </p>\n', content_type: 'text/plain' },
};
const COMMON = {
  path_includes: ['^/a', '/b c'],
  path_excludes: ['/d'],
  path_match_type: 'regex',
  host_match_type: 'wildcard',
  host_pattern: '*.example.com',
  priority: 7,
};

describe.each(TYPES)('a rule of the type %s', (type) => {
  const fields = fieldsOf(type);
  const kind = RULE_KINDS.find((each) => each.type === type);
  const schemas = { ...COMMON_FIELDS, ...kind?.fields };
  const logsAlone = kind?.countsDryRun === true ? [] : ['action_mode'];

  it('has a field with texts for each member of the API, and for each choice', () => {
    const names = [...new Set(fields.map(({ name }) => name.split('.')[0]))];
    const wanted = Object.keys(schemas).filter((name) => ![...ELSEWHERE, ...logsAlone].includes(name));
    expect(names.sort()).toEqual(wanted.sort());
    const { fields: labels, choices } = rules;
    for (const field of fields) {
      if (field.kind !== 'origins') expect(labels).toHaveProperty([field.name]);
      for (const choice of field.kind === 'choice' ? field.choices : [])
        expect(choices[`${field.name} ${choice}`] ?? choices[choice]).toBeTypeOf('string');
    }
  });

  it('starts with the defaults of the API', () => {
    const body = bodyOf(fields, typedOf(fields, {}));
    for (const [name, value] of Object.entries(body)) {
      const byDefault = schemas[name as keyof typeof schemas]?.safeParse(undefined);
      if (byDefault?.success && byDefault.data !== undefined)
        expect([name, value]).toEqual([name, byDefault.data]);
    }
  });

  it('survives a round trip', () => {
    const rule = { ...COMMON, ...OTHER[type], ...(logsAlone.length === 0 && { action_mode: 'dry_run' }) };
    const body = bodyOf(fields, typedOf(fields, rule));
    expect(body).toMatchObject(rule);
    for (const [name, value] of Object.entries(body))
      expect([name, schemas[name as keyof typeof schemas]?.safeParse(value).success]).toEqual([name, true]);
  });
});

describe('typed values', () => {
  const typed = (type: (typeof TYPES)[number], changes: Record<string, string>) => {
    const fields = fieldsOf(type);
    return bodyOf(fields, { ...typedOf(fields, {}), ...changes });
  };

  it('may be country codes in any form', () => {
    expect(typed('drop', { countries: 'de, fr;NL  be' }).countries).toEqual(['DE', 'FR', 'NL', 'BE']);
  });

  it('are sent unchanged if they are not numbers, so that the API reports them', () => {
    expect(typed('rate_limit', { requests: 'many', period_seconds: ' 30 ' })).toMatchObject({
      requests: 'many',
      period_seconds: 30,
    });
    expect(typed('error_page', { status_codes: '404, all' }).status_codes).toEqual([404, 'all']);
  });

  it('are omitted while their field is hidden, so that the member stays unchanged', () => {
    expect(typed('bot_route', { action: 'block', destination: 'x' })).not.toHaveProperty('destination');
    expect(typed('bot_route', { action: 'route', destination: 'x' }).destination).toBe('x');
    expect(typed('origin_pool', { health: 'false', 'health.path': '/x' }).health).toBeNull();
    // both are set or both are empty
    expect(typed('waf', { host_match_type: '', host_pattern: 'x' }).host_pattern).toBe('');
  });

  it('determine which other fields are shown', () => {
    const header = fieldsOf('rate_limit').find(({ name }) => name === 'header');
    expect(header && isAsked(header, { key: 'ip' })).toBe(false);
    expect(header && isAsked(header, { key: 'header' })).toBe(true);
  });

  it('have one empty server if a pool has none', () => {
    expect(originsOf('')).toHaveLength(1);
    for (const text of ['[]', '"x"', 'null', '[null,7]']) expect(originsOf(text)).toHaveLength(1);
    expect(originsOf('[{"host":"a.example"}]')).toMatchObject([{ host: 'a.example', port: '443' }]);
  });
});

describe('errors of the API', () => {
  it('are shown at the field that they name, otherwise below the form', () => {
    const shown = (type: (typeof TYPES)[number], at: string) =>
      fieldsOf(type)
        .filter((field) => showsError(field, at))
        .map(({ name }) => name);
    expect(shown('cache', 'key_query_list[2]')).toEqual(['key_query_list']);
    expect(shown('origin_pool', 'origins[1].port')).toEqual(['origins']);
    for (const at of ['origins', 'origins[1]', 'health', 'record_ids'])
      expect(shown('origin_pool', at)).toEqual([]);
  });
});

describe('a rule as JSON', () => {
  it('has no read-only members', () => {
    expect(parseJson(jsonOf({ id: 3, type: 'waf', paranoia: 2, created_at: 'x' }))).toEqual({ paranoia: 2 });
  });

  it('must be an object', () => {
    for (const text of ['', '[]', 'null', '{']) expect(parseJson(text)).toBeUndefined();
  });
});

describe('the order of rules', () => {
  const rules = [1, 2, 3].map((id) => ({ id, priority: 100 }));

  it('changes even if all have the same priority', () => {
    expect(movedPlaces(rules, 3, -1)).toEqual([
      { id: 1, priority: 100 },
      { id: 3, priority: 200 },
      { id: 2, priority: 300 },
    ]);
  });

  it('stops at both ends', () => {
    expect(movedPlaces(rules, 1, -1)).toBeUndefined();
    expect(movedPlaces(rules, 3, 1)).toBeUndefined();
    expect(movedPlaces(rules, 9, 1)).toBeUndefined();
  });
});
