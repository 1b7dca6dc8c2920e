// The texts of uptime, which are loaded with their pages.

import * as english from './en/uptime.ts';
import { persian } from './persian.ts';

export const uptime: typeof english.uptime = persian?.uptime ?? english.uptime;
