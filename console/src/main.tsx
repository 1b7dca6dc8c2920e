// Entry point of the console.

import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import { render } from 'preact';
import { App } from './app/app.tsx';
import { preloadScreen } from './app/screens.tsx';
import { applyTheme } from './app/theme.ts';
import { publicName } from './screens/public-check/public-place.ts';
import { followLinks, takeLink } from './screens/sign-in/link.ts';
import { LANGUAGES } from './words/language.ts';
import { words } from './words/words.ts';

const { language } = words;
document.documentElement.lang = language;
document.documentElement.dir = LANGUAGES[language].direction;
takeLink();
followLinks();
if (publicName(location.pathname) === undefined) preloadScreen(location.pathname);
applyTheme();
render(<App />, document.getElementById('console') as HTMLElement);
