// The texts of the history, which are loaded with their pages.

import * as english from './en/history.ts';
import { persian } from './persian.ts';

export const history: typeof english.history = persian?.history ?? english.history;
