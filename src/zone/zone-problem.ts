// Problems in the records of a zone, described for their authors.

import { type Name, printName } from '../dns/name.ts';
import { typeMnemonic } from '../dns/type-codes.ts';

type ZoneProblemCode =
  | 'NO_SOA'
  | 'MANY_SOA'
  | 'SOA_BELOW_APEX'
  | 'NO_APEX_NS'
  | 'OUT_OF_ZONE'
  | 'META_TYPE'
  | 'BAD_TTL'
  | 'BAD_RDATA'
  | 'MANY_NSEC3PARAM'
  | 'NSEC3_ALGORITHM'
  | 'NSEC3_ITERATIONS'
  | 'CNAME_AND_OTHER'
  | 'MANY_CNAME'
  | 'DNAME_AND_CNAME'
  | 'MANY_DNAME'
  | 'DNAME_AND_NS'
  | 'BELOW_DNAME'
  | 'DS_AT_APEX'
  | 'NS_AT_WILDCARD'
  | 'SET_TOO_LARGE'
  | 'TOO_MANY_PROBLEMS';

export interface ZoneProblem {
  readonly code: ZoneProblemCode;
  readonly message: string;
  readonly owner?: Name;
  readonly type?: number;
}

const MAX_PROBLEMS = 1000;

/** The problems in the order in which they were found, up to a limit. */
export class ProblemList {
  readonly list: ZoneProblem[] = [];

  report(code: ZoneProblemCode, message: string, owner?: Name, type?: number): void {
    if (this.list.length < MAX_PROBLEMS) {
      this.list.push({
        code,
        message,
        ...(owner === undefined ? {} : { owner }),
        ...(type === undefined ? {} : { type }),
      });
    } else if (this.list.length === MAX_PROBLEMS) {
      this.list.push({ code: 'TOO_MANY_PROBLEMS', message: `only the first ${MAX_PROBLEMS} are listed` });
    }
  }
}

export function describeSet(owner: Name, type: number): string {
  return `${printName(owner)} ${typeMnemonic(type)}`;
}
