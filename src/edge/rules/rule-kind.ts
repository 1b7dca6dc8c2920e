// What a type of rules is made of: its schema, its gate, what an edge is told. Each type has a file of its own.

import { z } from 'zod';
import type { EdgeRule, RuleMatch, RuleType } from '../edge-rule.ts';
import { COMMON_FIELDS, type CommonFields, judgeCommon } from './common-fields.ts';

type Shape = Record<string, z.ZodType>;
type FieldsOf<S extends Shape> = { [K in keyof S]: z.output<S[K]> };
/** What an edge is told of a type, beside which requests it is for. */
type Told<T extends RuleType> = Omit<Extract<EdgeRule, { type: T }>, Exclude<keyof RuleMatch, 'type'>>;

type AddFault = (path: PropertyKey[], message: string) => void;

/** The address or name of an origin that a rule names, with its place in the body. */
interface NamedOrigin {
  readonly path: PropertyKey[];
  readonly host: string;
}

interface Declared<T extends RuleType, S extends Shape> {
  readonly type: T;
  /** One sentence for the description. */
  readonly what: string;
  /** The fields that only this type has, with bounds and defaults. */
  readonly fields: S;
  /** What no field can be judged for alone. */
  readonly judge?: (rule: FieldsOf<S> & CommonFields, add: AddFault) => void;
  /** The gate of the plan that every write of the type has to pass. */
  readonly gate: 'rules';
  /** `action_mode: dry_run` counts; other types always act. */
  readonly countsDryRun: boolean;
  /** Where it lets edges connect to; the shell judges them, since it knows what is allowed. */
  readonly origins?: (rule: FieldsOf<S>) => NamedOrigin[];
  /** Given the field of a body that is kept apart, since it may be large. */
  readonly pageField?: keyof S & string;
  readonly toEdge: (rule: FieldsOf<S>) => Told<T>;
}

/** The body of a rule of some type, judged: common fields and its own. */
export type RuleBody = CommonFields & Readonly<Record<string, unknown>>;

export interface RuleKind {
  readonly type: RuleType;
  readonly what: string;
  readonly fields: Shape;
  /** A whole body. */
  readonly schema: z.ZodType<RuleBody>;
  readonly gate: 'rules';
  readonly countsDryRun: boolean;
  readonly pageField: string | undefined;
  origins(rule: RuleBody): NamedOrigin[];
  toEdge(rule: RuleBody): Told<RuleType>;
}

export function ruleKind<T extends RuleType, S extends Shape>(declared: Declared<T, S>): RuleKind {
  const { type, what, fields, judge, gate, countsDryRun, pageField } = declared;
  const schema = z.strictObject({ ...COMMON_FIELDS, ...fields }).superRefine((rule, context) => {
    const add: AddFault = (path, message) => context.addIssue({ code: 'custom', path, message });
    judgeCommon(rule as unknown as CommonFields, { add });
    judge?.(rule as unknown as FieldsOf<S> & CommonFields, add);
  });
  return {
    type,
    what,
    fields,
    schema: schema as unknown as z.ZodType<RuleBody>,
    gate,
    countsDryRun,
    pageField,
    origins: (rule) => declared.origins?.(rule as unknown as FieldsOf<S>) ?? [],
    toEdge: (rule) => declared.toEdge(rule as unknown as FieldsOf<S>) as Told<RuleType>,
  };
}
