import type { Assignor, AssignorName } from './assignor.ts';
import { CooperativeStickyAssignor } from './cooperative-sticky-assignor.ts';
import { RangeAssignor } from './range-assignor.ts';
import { RoundRobinAssignor } from './round-robin-assignor.ts';
import { StickyAssignor } from './sticky-assignor.ts';

/**
 * Creates the assignor of one member, because the sticky assignors remember the member's last assignment or generation.
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
