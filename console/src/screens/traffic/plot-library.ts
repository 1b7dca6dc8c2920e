// uPlot with its style sheet, loaded with the first chart.

import 'uplot/dist/uPlot.min.css';

export { default } from 'uplot';
