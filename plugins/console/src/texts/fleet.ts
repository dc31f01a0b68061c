import { texts as frame } from './frame.ts';

export const texts = {
  ...frame,
  connector: 'Connector',
  why: 'Why',
  rate: 'Records/s',
  lastHour: 'Last hour',
  letters: 'Dead/min',
  type: 'Type',
  class: 'Class',
  topic: 'Topic',
  search: 'Search',
  searchHint: 'Name, topic or reason',
  any: 'any',
  clear: 'Clear filters',
  csv: (count: number) => `Save ${String(count)} as CSV`,
  csvColumns: [
    ...['connector', 'type', 'class', 'verdict', 'since', 'why', 'tasks running', 'tasks'],
    ...['records/s', 'lag', 'dead letters/min', 'topics', 'workers'],
  ],
  selectAll: 'Select all connectors shown',
  select: (name: string) => `Select ${name}`,
  selected: (count: number) => `${String(count)} selected`,
  willHappen: {
    pause: 'Their tasks stay assigned and deliver nothing until they are resumed.',
    resume: 'Their tasks continue where they stopped.',
    stop: 'Their tasks stop. Offsets can then be changed; resume restarts them.',
    restart: 'The failed connectors and tasks among them restart. All others stay as they are.',
  },
  confirm: (action: string, count: number) =>
    `${action === 'Restart failed' ? 'Restart what has failed in' : action} ${String(count)} ${count === 1 ? 'connector' : 'connectors'}?`,
  done: (action: string, count: number) => `${action}: ${String(count)} done.`,
  failed: (name: string, message: string) => `${name}: ${message}`,
  noneYet: 'There are no connectors yet.',
  noneYetNext: 'Create the first one with POST /connectors; the README shows how.',
  noneFound: 'No connector matches these filters.',
} as const;
