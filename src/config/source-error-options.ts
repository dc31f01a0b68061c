import { declareOptions } from './option.ts';

/** Connect has dead letters for sinks alone; sources have the same option here. */
export const sourceErrorOptions = declareOptions({
  'errors.deadletterqueue.topic.name': {
    type: 'STRING',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Topic for records that cannot be made, converted or sent; empty for none. Needs `errors.tolerance=all`.',
    group: 'Error Handling',
    order: 6,
    width: 'MEDIUM',
    displayName: 'Dead Letter Queue Topic Name',
  },
});
