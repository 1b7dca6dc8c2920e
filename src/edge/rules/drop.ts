// Drops requests from the countries listed, or from all others.

import { z } from 'zod';
import { isCountry } from './countries.ts';
import { ruleKind } from './rule-kind.ts';
import { distinct } from './text-fields.ts';

const country = z
  .string()
  .toUpperCase()
  .refine(isCountry, 'expected a country code of ISO 3166-1, such as DE')
  .meta({ minLength: 2, maxLength: 2 });

export const drop = ruleKind({
  type: 'drop',
  what: 'Drops requests.',
  fields: {
    country_match_type: z
      .enum(['include', 'exclude'])
      .default('include')
      .describe('`include`: from the listed countries. `exclude`: from all others.'),
    countries: distinct(country, 300)
      .default([])
      .describe('ISO 3166-1 alpha-2, stored in upper case. Empty: no filter by country.'),
  },
  gate: 'rules',
  countsDryRun: true,
  toEdge: ({ country_match_type, countries }) => ({ type: 'drop', country_match_type, countries }),
});
