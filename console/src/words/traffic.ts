// The texts of traffic, which are loaded with their pages.

import * as english from './en/traffic.ts';
import { persian } from './persian.ts';

export const traffic: typeof english.traffic = persian?.traffic ?? english.traffic;
