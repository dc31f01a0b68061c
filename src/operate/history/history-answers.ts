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
    difference: described(
      nullable(arrayOf(objectOf({ key: TEXT, 'before?': nullable(TEXT), 'after?': nullable(TEXT) }))),
      'null: not known',
    ),
  }),
);
export type ConnectorChangeAnswer = ShapeOf<typeof CONNECTOR_CHANGE>;
