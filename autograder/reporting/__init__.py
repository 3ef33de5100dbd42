"""What people read: feedback for a learner, a report for a class, exports."""
