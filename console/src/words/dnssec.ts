// The texts of DNSSEC, which are loaded with their pages.

import * as english from './en/dnssec.ts';
import { persian } from './persian.ts';

export const dnssec: typeof english.dnssec = persian?.dnssec ?? english.dnssec;
