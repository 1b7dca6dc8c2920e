// SVCB for the web (RFC 9460 §9).

import { TYPE } from '../../type-codes.ts';
import { serviceBinding } from './svcb.ts';

export const HTTPS = serviceBinding(TYPE.HTTPS);
