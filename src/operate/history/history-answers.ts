import { CHANGES } from '../../herder/recorded-change.ts';
import {
  arrayOf,
  BOOLEAN,
  component,
  described,
  enumOf,
  INTEGER,
  nullable,
  objectOf,
  TEXT,
  type ShapeOf,
} from '../../json/open-api.ts';

/** Secrets are `[hidden]`. */
export const KEY_DIFFERENCE = objectOf({
  key: TEXT,
  'before?': described(nullable(TEXT), 'absent: the key is new'),
  'after?': described(nullable(TEXT), 'absent: the key is gone'),
});
export type KeyDifference = ShapeOf<typeof KEY_DIFFERENCE>;

export const CONNECTOR_CHANGE = component(
  'ConnectorChange',
  objectOf({
    n: INTEGER,
    at: TEXT,
    what: enumOf(CHANGES),
    by: described(
      nullable(objectOf({ user: nullable(TEXT), address: nullable(TEXT), 'via?': TEXT })),
      'null: not known',
    ),
    state: enumOf(['RUNNING', 'PAUSED', 'STOPPED']),
    worker: described(nullable(TEXT), 'The worker that made or found the change; null: not known'),
    'task?': described(INTEGER, 'The task that was restarted'),
    'automatic?': described(BOOLEAN, 'A restart by the worker after a failure'),
    'restoredFrom?': INTEGER,
    difference: described(nullable(arrayOf(KEY_DIFFERENCE)), 'null: not known'),
  }),
);
export type ConnectorChangeAnswer = ShapeOf<typeof CONNECTOR_CHANGE>;
