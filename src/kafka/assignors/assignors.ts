import type { Assignor, AssignorName } from './assignor.ts';
import { CooperativeStickyAssignor } from './cooperative-sticky-assignor.ts';
import { RangeAssignor } from './range-assignor.ts';
import { RoundRobinAssignor } from './round-robin-assignor.ts';
import { StickyAssignor } from './sticky-assignor.ts';

/**
 * Creates an assignor for one member. It must not be shared, because the sticky assignors remember the last assignment
 * or generation of their member.
 */
export function createAssignor(name: AssignorName): Assignor {
  switch (name) {
    case 'range':
      return new RangeAssignor();
    case 'roundrobin':
      return new RoundRobinAssignor();
    case 'sticky':
      return new StickyAssignor();
    case 'cooperative-sticky':
      return new CooperativeStickyAssignor();
  }
}
