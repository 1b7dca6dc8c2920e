// Definition of a rule type: its schema, its gate, and its edge configuration. Each type has its own file.

import { z } from 'zod';
import type { EdgeRule, RuleMatch, RuleType } from '../edge-rule.ts';
import { COMMON_FIELDS, type CommonFields, judgeCommon } from './common-fields.ts';

type Shape = Record<string, z.ZodType>;
type FieldsOf<S extends Shape> = { [K in keyof S]: z.output<S[K]> };
/** Edge configuration of a type, without the common filters. */
type Told<T extends RuleType> = Omit<Extract<EdgeRule, { type: T }>, Exclude<keyof RuleMatch, 'type'>>;

type AddFault = (path: PropertyKey[], message: string) => void;

/** Address or name of an origin in a rule, with its path in the body. */
interface NamedOrigin {
  readonly path: PropertyKey[];
  readonly host: string;
}

interface Declared<T extends RuleType, S extends Shape> {
  readonly type: T;
  /** One sentence for the API description. */
  readonly what: string;
  /** Fields of this type only, with limits and defaults. */
  readonly fields: S;
  /** Checks that involve more than one field. */
  readonly judge?: (rule: FieldsOf<S> & CommonFields, add: AddFault) => void;
  /** The gate that every write of this type must pass. */
  readonly gate: 'rules';
  /** True if `action_mode: dry_run` is supported. Other types are always enforced. */
  readonly countsDryRun: boolean;
  /** Returns the origins that edges may connect to. The caller checks them, because it knows which are allowed. */
  readonly origins?: (rule: FieldsOf<S>) => NamedOrigin[];
  /** The body field that is stored separately because it may be large. */
  readonly pageField?: keyof S & string;
  readonly toEdge: (rule: FieldsOf<S>) => Told<T>;
}

/** A validated rule body of any type: common fields and those of its type. */
export type RuleBody = CommonFields & Readonly<Record<string, unknown>>;

export interface RuleKind {
  readonly type: RuleType;
  readonly what: string;
  readonly fields: Shape;
  /** Schema of a complete body. */
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
