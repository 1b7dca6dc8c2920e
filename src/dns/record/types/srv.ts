// The host and port of a service (RFC 2782).

import { TYPE } from '../../type-codes.ts';
import { domainName, u16 } from '../fields.ts';
import { recordType } from '../record-type.ts';

export const SRV = recordType(
  TYPE.SRV,
  { priority: u16, weight: u16, port: u16, target: domainName },
  { compression: 'received' },
);
