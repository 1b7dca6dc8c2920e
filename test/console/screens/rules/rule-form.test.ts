import { describe, expect, it } from 'vitest';
import {
  bodyOf,
  formOf,
  jsonOf,
  movedPlaces,
  parseJson,
  typedOf,
} from '../../../../console/src/screens/rules/rule-form.ts';

const fields = (type: 'redirect' | 'drop' | 'rate_limit') => formOf(type) ?? [];

describe('a rule in a form', () => {
  it('comes back as it was', () => {
    const rule = {
      target: 'https://www.example.net/',
      status_code: 308,
      preserve_query: false,
      preserve_path: true,
      path_includes: ['/a/*', '/b'],
      path_excludes: [],
      priority: 7,
    };
    expect(bodyOf(fields('redirect'), typedOf(fields('redirect'), rule))).toEqual(rule);
  });

  it('takes codes of countries as people type them', () => {
    const typed = { ...typedOf(fields('drop'), {}), countries: 'de, fr;NL  be' };
    expect(bodyOf(fields('drop'), typed).countries).toEqual(['DE', 'FR', 'NL', 'BE']);
  });

  it('sends what is no number as it is, for the API to say so', () => {
    const typed = { ...typedOf(fields('rate_limit'), {}), requests: 'many', period_seconds: ' 30 ' };
    expect(bodyOf(fields('rate_limit'), typed)).toMatchObject({ requests: 'many', period_seconds: 30 });
  });
});

it('is JSON without what cannot be changed', () => {
  expect(parseJson(jsonOf({ id: 3, type: 'waf', paranoia: 2, created_at: 'x' }))).toEqual({ paranoia: 2 });
  for (const text of ['', '[]', 'null', '{']) expect(parseJson(text)).toBeUndefined();
});

describe('the order of rules', () => {
  const rules = [1, 2, 3].map((id) => ({ id, priority: 100 }));

  it('changes also where all have the same priority', () => {
    expect(movedPlaces(rules, 3, -1)).toEqual([
      { id: 1, priority: 100 },
      { id: 3, priority: 200 },
      { id: 2, priority: 300 },
    ]);
  });

  it('ends at its ends', () => {
    expect(movedPlaces(rules, 1, -1)).toBeUndefined();
    expect(movedPlaces(rules, 3, 1)).toBeUndefined();
    expect(movedPlaces(rules, 9, 1)).toBeUndefined();
  });
});
