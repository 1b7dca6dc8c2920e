// The redirection of a whole subtree (RFC 6672 §2.1, which forbids compression).

import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';
import { TYPE } from '../type-codes.ts';

export const DNAME = recordType(TYPE.DNAME, { target: domainName });
