// The tables of rules, as Kysely sees them.

import type { Generated } from 'kysely';
import type { RuleType } from '../../../edge/edge-rule.ts';

interface RulesTable {
  id: Generated<number>;
  domain_id: number;
  type: RuleType;
  enabled: boolean;
  priority: number;
  record_ids: number[];
  /** The body but for the columns. */
  fields: unknown;
  /** The size of the body as JSON. */
  octets: number;
  /** The digest of the page's text. */
  page: Buffer | null;
  page_octets: Generated<number>;
  disabled_reason: string | null;
  created_at: Date;
  updated_at: Date;
}

interface RulePagesTable {
  domain_id: number;
  digest: Buffer;
  html: string;
  kept_at: Generated<Date>;
}

export interface RuleTables {
  rules: RulesTable;
  rule_pages: RulePagesTable;
}
