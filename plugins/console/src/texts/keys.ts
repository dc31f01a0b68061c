import { texts as frame } from './frame.ts';

export const texts = {
  ...frame,
  palette: 'Go to a connector or a view',
  paletteHint: 'Name of a connector or view',
  nothingFound: 'Nothing matches.',
  keyHelp: 'Keyboard',
  keyTexts: [
    ['/', 'Search'],
    ['j k', 'Next or previous row'],
    ['Enter', 'Open the row'],
    ['g c', 'Connectors'],
    ['g n', 'New connector'],
    ['g s', 'SQL'],
    ['g w', 'Cluster'],
    ['Ctrl K', 'Go to a connector or view'],
    ['?', 'This list'],
  ],
} as const;
