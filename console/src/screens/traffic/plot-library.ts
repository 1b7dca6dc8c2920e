// uPlot with its style sheet, loaded when the first plot is drawn.

import 'uplot/dist/uPlot.min.css';

export { default } from 'uplot';
