// The texts of the line that adds a record, which are loaded with the records.

import { quickAdd as english } from './en/quick-add.ts';
import { persian } from './persian.ts';

export const quickAdd: typeof english = persian?.quickAdd ?? english;
