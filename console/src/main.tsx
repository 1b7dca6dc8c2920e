// Where the console begins.

import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import { render } from 'preact';
import { App } from './app/app.tsx';
import { applyTheme } from './app/theme.ts';
import { takeLink } from './screens/sign-in/link.ts';

takeLink();
applyTheme();
render(<App />, document.getElementById('console') as HTMLElement);
