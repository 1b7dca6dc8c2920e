// The texts of records and their import, which are loaded with their pages.

import * as english from './en/records.ts';
import { persian } from './persian.ts';

export const records: typeof english.records = persian?.records ?? english.records;
export const imports: typeof english.imports = persian?.imports ?? english.imports;
export const scan: typeof english.scan = persian?.scan ?? english.scan;
