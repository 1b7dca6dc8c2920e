// Rules in responses and bodies, as the OpenAPI document shows them. `src/edge/rules` validates a body with the
// schema of the type in its path.

import { z } from 'zod';
import type { RuleType } from '../../edge/edge-rule.ts';
import { COMMON_FIELDS, MAX_PRIORITY, MAX_RULES_OF_A_TYPE } from '../../edge/rules/common-fields.ts';
import { RULE_KINDS } from '../../edge/rules/every-type.ts';
import type { RuleKind } from '../../edge/rules/rule-kind.ts';
import { boundedArray, Id, Timestamp } from './fields.ts';

const record_id = Id.nullable()
  .optional()
  .describe('Deprecated: use `record_ids` with one id.')
  .meta({ deprecated: true });

const answered = {
  id: Id,
  domain_id: Id,
  record_id: Id.optional()
    .describe('Deprecated: the record, if the rule applies to exactly one.')
    .meta({ deprecated: true }),
  disabled_reason: z.string().optional().describe('Why the service has disabled the rule.'),
  unsupported: z
    .array(z.object({ why: z.string(), edges: z.int().min(1).describe('Number of edges that report this.') }))
    .optional()
    .describe(
      'Reasons why some edges cannot apply the rule. Only where rules are read. Absent if no edge reports one.',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** `rate_limit` → `RateLimit`. */
function nameOf(type: RuleType): string {
  return type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Removes the default: responses and partial updates have none. */
function bare(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodDefault ? (schema.unwrap() as z.ZodType) : schema;
}

function fieldsOf(kind: RuleKind, map: (field: z.ZodType) => z.ZodType): Record<string, z.ZodType> {
  const all = Object.entries({ ...COMMON_FIELDS, ...kind.fields });
  return Object.fromEntries(all.map(([name, field]) => [name, map(field)]));
}

export const READ_ONLY_FIELDS: readonly string[] = [
  'id',
  'domain_id',
  'type',
  'size',
  'disabled_reason',
  'unsupported',
  'created_at',
  'updated_at',
];

const answers = RULE_KINDS.map((kind) => {
  const { type, what, pageField } = kind;
  const fields = fieldsOf(kind, bare);
  if (pageField !== undefined) {
    fields[pageField] = (fields[pageField] as z.ZodType).optional();
    fields.size = z
      .int()
      .min(1)
      .optional()
      .describe(`Octets of \`${pageField}\`. Present if \`${pageField}\` is.`);
  }
  return z
    .object({ ...answered, type: z.literal(type), ...fields })
    .meta({ id: `${nameOf(type)}Rule`, description: what });
});

const creates = RULE_KINDS.map((kind) =>
  z
    .strictObject({ type: z.literal(kind.type).optional(), record_id, ...fieldsOf(kind, (field) => field) })
    .meta({ id: `${nameOf(kind.type)}RuleCreate`, description: `A new rule of type ${kind.type}.` }),
);

/** Members that an update accepts and ignores, so that a response can be sent back. */
const ignored = Object.fromEntries(
  READ_ONLY_FIELDS.map((name) => [name, z.unknown().optional().describe('Read-only. Ignored in requests.')]),
);

const updates = RULE_KINDS.map((kind) =>
  z.strictObject({ ...ignored, record_id, ...fieldsOf(kind, (field) => bare(field).optional()) }).meta({
    id: `${nameOf(kind.type)}RuleUpdate`,
    description: `Fields of a rule of type ${kind.type}.`,
  }),
);

/** Described as one of several schemas, but the value is not validated here. */
const OneOf = z.core.$constructor<z.ZodUnion>('OneOf', (schema, definition) => {
  z.ZodUnion.init(schema, definition);
  schema._zod.parse = (payload) => payload;
});

function oneOf<T>(options: readonly z.ZodType[]): z.ZodType<T, T> {
  return new OneOf({ type: 'union', options: [...options] }) as unknown as z.ZodType<T, T>;
}

/** Stored rules were validated when they were written, so reading them does not validate them again. */
export type PrintedRule = Readonly<Record<string, unknown>>;
export const Rule = oneOf<PrintedRule>(answers).meta({ id: 'Rule' });

/** Validated by the handler, which knows the type. */
export const RuleCreate = oneOf<unknown>(creates).meta({ id: 'RuleCreate' });
export const RuleUpdate = oneOf<unknown>(updates).meta({ id: 'RuleUpdate' });

export const RuleOrder = boundedArray(
  z.strictObject({ id: Id, priority: z.int().min(0).max(MAX_PRIORITY) }).meta({ id: 'RulePlace' }),
).max(MAX_RULES_OF_A_TYPE);
