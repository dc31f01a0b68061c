import { declareOptions } from './option.ts';

/** Kafka Connect has this option only for sinks. */
export const sourceErrorOptions = declareOptions({
  'errors.deadletterqueue.topic.name': {
    type: 'STRING',
    default: '',
    importance: 'MEDIUM',
    documentation:
      'Topic for records that cannot be created, converted or sent; empty for none. Needs `errors.tolerance=all`.',
    group: 'Error Handling',
    order: 6,
    width: 'MEDIUM',
    displayName: 'Dead Letter Queue Topic Name',
  },
});
