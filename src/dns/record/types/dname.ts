// The redirection of a whole subtree (RFC 6672 §2.1, which forbids compression).

import { TYPE } from '../../type-codes.ts';
import { domainName } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const DNAME = recordType(TYPE.DNAME, { target: domainName });
