#include "core/admission.h"

#include <gtest/gtest.h>

namespace sockhop::core {
namespace {

// A host (1, 2, 3), RootlessKit's namespaces below it, and a container below those.
const Namespaces kHost{1, 2, {3}};
const Namespaces kRuntime{11, 12, {3}};
const Namespaces kContainer{21, 22, {23, 3}};

TEST(Admission, ProcessesOfTheContainerAreKnown) {
  const auto mark = mark_of(kContainer, kRuntime);
  EXPECT_TRUE(lives_in(kContainer, mark));
  EXPECT_FALSE(lives_in(kHost, mark));
  EXPECT_FALSE(lives_in(kRuntime, mark));
}

TEST(Admission, UnshareDoesNotHideAProcess) {
  const auto mark = mark_of(kContainer, kRuntime);
  EXPECT_TRUE(lives_in({91, 92, {23, 3}}, mark)) << "new network and mount namespace";
  EXPECT_TRUE(lives_in({91, 92, {93, 23, 3}}, mark)) << "a pid namespace below, too";
  EXPECT_TRUE(lives_in({21, 92, {3}}, mark)) << "joined the network only";
  EXPECT_TRUE(lives_in({91, 22, {3}}, mark)) << "joined the mount namespace only";
}

TEST(Admission, NamespacesSharedWithTheRuntimeTellNothing) {
  const auto mark = mark_of({11, 22, {3}}, kRuntime);  // --net=host --pid=host below RootlessKit
  EXPECT_FALSE(lives_in(kRuntime, mark));
  EXPECT_FALSE(lives_in({11, 32, {3}}, mark)) << "another tool in RootlessKit's network";
  EXPECT_TRUE(lives_in({11, 22, {3}}, mark));
}

TEST(Admission, AnUnknownContainerMarksNobody) {
  EXPECT_FALSE(lives_in(kContainer, ContainerMark{}));
  EXPECT_FALSE(lives_in(Namespaces{}, ContainerMark{}));
}

}  // namespace
}  // namespace sockhop::core
