// Warnings about records that are allowed but probably wrong. A warning never prevents a write.

import type { Name } from '../../dns/name.ts';
import { printRecordName } from '../records/record-name.ts';

/** The closed set of codes (docs/api.md "Warnings"). */
export const WARNING_CODES = [
  'ALIAS_MODE_PARAMETERS',
  'AT_SIGN_IN_NAME',
  'BELOW_ZONE_CUT',
  'MANY_SPF',
  'MISSING_FINAL_DOT',
  'MISSING_GLUE',
  'NULL_MX_NOT_ALONE',
  'OCTAL_ESCAPE',
  'POLICY_CUT',
  'RECORD_CONFLICT',
  'RECORD_NOT_LOADED',
  'ROUTING_LOST',
  'SPF_SPLIT',
  'TARGET_HAS_BLANKS',
  'TARGET_IS_ADDRESS',
  'TARGET_IS_CNAME',
  'TARGET_IS_URL',
  'TARGET_WITHOUT_ADDRESS',
  'TYPE_REPLACED',
  'WILDCARD_SHADOWED',
] as const;

export type WarningCode = (typeof WARNING_CODES)[number];

export interface ZoneWarning {
  readonly code: WarningCode;
  readonly owner: Name;
  /** Mnemonic of the record's type. */
  readonly type: string;
  readonly message: string;
  /** The host that the warning is about. The warning does not apply if the domain has records at this host. */
  readonly host?: Name;
  readonly line?: number;
  readonly column?: number;
  /** The included file that contains the record. */
  readonly file?: string | undefined;
}

/** A warning as shown to users. */
interface ShownWarning extends Pick<ZoneWarning, 'line' | 'type' | 'code' | 'message'> {
  /** The owner, relative to the domain. */
  readonly name: string;
}

export function showWarnings(warnings: readonly ZoneWarning[], apex: Name): ShownWarning[] {
  return warnings.map(({ line, owner, type, code, message }) => ({
    ...(line !== undefined && { line }),
    name: printRecordName(owner, apex),
    type,
    code,
    message,
  }));
}

export const MAX_WARNINGS = 1000;

/** Collects warnings without duplicates, up to a limit. */
export class WarningList {
  readonly list: ZoneWarning[] = [];
  readonly #seen = new Set<string>();

  get isFull(): boolean {
    return this.list.length >= MAX_WARNINGS;
  }

  add(warning: ZoneWarning): void {
    if (this.isFull) return;
    const key = `${warning.code} ${warning.owner} ${warning.type} ${warning.message}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.list.push(warning);
  }
}

const ABOUT_TEXT: ReadonlySet<WarningCode> = new Set([
  'MISSING_FINAL_DOT',
  'TARGET_HAS_BLANKS',
  'TARGET_IS_ADDRESS',
  'TARGET_IS_URL',
]);

/**
 * Sorts the warnings of a zone file by line. Omits TARGET_WITHOUT_ADDRESS in lines whose host was probably misread, and
 * conflicts of records that BELOW_ZONE_CUT reports.
 */
export function joinWarnings(
  ofText: readonly ZoneWarning[],
  ofRecords: readonly ZoneWarning[],
  conflicts: readonly ZoneWarning[] = [],
): ZoneWarning[] {
  const placeOf = ({ file, line }: ZoneWarning) => `${file ?? ''}:${line}`;
  const misread = new Set(ofText.filter(({ code }) => ABOUT_TEXT.has(code)).map(placeOf));
  const others = ofRecords.filter(
    (warning) => warning.code !== 'TARGET_WITHOUT_ADDRESS' || !misread.has(placeOf(warning)),
  );
  const setOf = ({ owner, type }: ZoneWarning) => `${type} ${owner}`;
  const belowCuts = new Set(ofRecords.filter(({ code }) => code === 'BELOW_ZONE_CUT').map(setOf));
  const further = conflicts.filter((warning) => !belowCuts.has(setOf(warning)));
  return [...ofText, ...others, ...further]
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .slice(0, MAX_WARNINGS);
}
